import { placementSuite } from './support/placement.suite.ts'

placementSuite({ orders: 1_000, hosts: 50 })
