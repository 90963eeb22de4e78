import { text } from 'node:stream/consumers'
import { killAfter } from '../../runtime/program-limits.ts'
import { UnreadableFile, UnusableOption } from '../errors.ts'
import { bulksOf } from '../plan.ts'
import { readUpload } from '../reading.ts'
import type { ReadingMessage, ReadingTask } from './messages.ts'

/**
 * A separate process that reads an uploaded file and prints what it understood. It isolates the service from malicious files: the
 * parent kills it if it takes too long or uses too much memory.
 */
async function run(): Promise<void> {
  const { file, folder, ...request } = JSON.parse(await text(process.stdin)) as ReadingTask
  try {
    const { reading, lines } = await readUpload(file, folder, request)
    await print({ reading })
    for await (const group of bulksOf(lines)) await print({ lines: group })
    await print({ end: true })
  } catch (error) {
    if (error instanceof UnreadableFile)
      await print({ unreadable: [error.reason, ...error.remarks.map((one) => one.text)].join('. ') })
    else if (error instanceof UnusableOption) {
      const { option, key, reason } = error
      await print({ unusableOption: { option, reason, ...(key !== undefined && { key }) } })
    } else throw error
  }
}

/** Resolves when the parent's pipe has the message, so that the process may end. */
const print = (message: ReadingMessage): Promise<void> =>
  new Promise((resolve) => process.stdout.write(`${JSON.stringify(message)}\n`, () => resolve()))

killAfter(Number(process.argv[2]))
run().then(
  () => process.exit(0),
  (error: unknown) => {
    const reason = error instanceof Error ? (error.stack ?? error.message) : 'unknown'
    process.stderr.write(`${reason.slice(0, 2_000)}\n`, () => process.exit(1))
  },
)
