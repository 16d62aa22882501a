import process from 'node:process'
import { play } from './program.js'

const [url, token] = process.argv.slice(2)
console.log(JSON.stringify(await play({ url, token })))
