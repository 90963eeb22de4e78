import { createServer } from 'node:http'
import { join } from 'node:path'
import { createApp } from './app.ts'
import { authenticate, sign } from './authenticate.ts'
import { Stones } from './stones.ts'

/** `node main.js FOLDER PORT`: serves until it is ended; prints one line with an access token when it listens. */
const [folder = '.', port = '0'] = process.argv.slice(2)
const stones = new Stones(join(folder, 'stones.db'))
const app = createApp({ stones, authenticate, address: `http://127.0.0.1:${port}` })
const token = sign('1-client-session')
createServer(app.callback()).listen(Number(port), '127.0.0.1', () => console.log(JSON.stringify({ token })))
