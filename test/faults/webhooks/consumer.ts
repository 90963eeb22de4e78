/**
 * A consumer of webhooks in a process of its own, to be killed: `consumer.ts FILE PORT`. It takes a message when it stands in
 * the file, as receivers should, and prints a line when it listens.
 */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'

const [path = '', port = ''] = process.argv.slice(2)
const file = openSync(path, 'a')

// What one that was killed has left of a line stands alone.
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
