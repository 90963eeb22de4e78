/**
 * A consumer of webhooks in a separate process, which tests kill: `consumer.ts FILE PORT`. It acknowledges a message after writing
 * it to the file, as receivers should, and prints a line when it listens.
 */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'

const [path = '', port = ''] = process.argv.slice(2)
const file = openSync(path, 'a')

// Ends the incomplete line of a killed consumer.
writeSync(file, '\n')

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const line = { id: request.headers['webhook-id'], body: Buffer.concat(chunks).toString() }
    writeSync(file, `${JSON.stringify(line)}\n`)
    fsyncSync(file)
    response.writeHead(204).end()
  })
})
server.listen(Number(port), '127.0.0.1', () => {
  process.stdout.write('listening\n')
})
process.on('exit', () => closeSync(file))
