import { testPaymentHistories } from './support/payment-histories.suite.ts'

testPaymentHistories(10)
