import { createServer } from 'node:http'
import { join } from 'node:path'
import { createApp } from './app.ts'
import { sign } from './authenticate.ts'
import { Stones } from './stones.ts'

/** `node main.js FOLDER PORT`: serves until it is ended, and prints one line when it listens. */
const [folder = '.', port = '0'] = process.argv.slice(2)
const stones = new Stones(join(folder, 'stones.db'))
const app = createApp(stones, `http://127.0.0.1:${port}`)
createServer(app.callback()).listen(Number(port), '127.0.0.1', () =>
  console.log(JSON.stringify({ token: sign('1-client-session') })),
)
