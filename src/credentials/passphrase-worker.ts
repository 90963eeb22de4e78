import { scryptSync } from 'node:crypto'
import { constants } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { lowerPriority } from '../runtime/priority.ts'
import type { PassphraseKdfTask } from './passphrase-kdf.ts'

// Requests take precedence, but on a busy machine the thread still gets about a tenth of a core, because a client waits
// for it.
lowerPriority(constants.priority.PRIORITY_BELOW_NORMAL)

parentPort?.on('message', ({ text, salt, cost: { N, r, p } }: PassphraseKdfTask) => {
  parentPort?.postMessage(scryptSync(text, salt, 32, { N, r, p, maxmem: 256 * N * r }))
})
