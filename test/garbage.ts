import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const TURNS = 20

/** Frees whatever nothing holds. What promises hold is free some turns after they were settled. */
export async function collectGarbage(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) {
    await new Promise<void>((done) => setImmediate(done))
    collect()
  }
}
