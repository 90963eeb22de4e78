import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const TURNS = 20

/** Collects garbage. Objects that promises hold become free some turns of the event loop after the promises settle. */
export async function collectGarbage(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) {
    await new Promise<void>((done) => setImmediate(done))
    collect()
  }
}
