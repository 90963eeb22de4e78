import type { Installation } from '../installation.ts'
import { startService } from '../service.ts'
import { readSettings, type Settings } from '../settings.ts'

/** Runs one command of `adamant`. */
export async function run(argv: readonly string[], open: (settings: Settings) => Promise<Installation>): Promise<void> {
  if (argv[0] !== 'serve') throw new Error(`There is no command ${argv[0]}`)
  const running = await startService(await open(readSettings(process.env)))
  await running.ready()
  process.stderr.write(`listening on ${running.url}\n`)
  process.once('SIGTERM', () => void running.stop())
}
