import { placementSuite } from './support/placement.suite.ts'

placementSuite({ orders: 150, hosts: 12 })
