import { compareSync, hashSync } from 'bcryptjs'
import { constants } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { lowerPriority } from '../runtime/priority.ts'

/** Without `hash` the password is hashed at this cost; with it, compared. */
export type PasswordTask = { readonly cost: number; readonly password: string; readonly hash?: string }

// Requests take precedence, but on a busy machine the thread still gets about a tenth of a core, because a client waits
// for it.
lowerPriority(constants.priority.PRIORITY_BELOW_NORMAL)

parentPort?.on('message', ({ cost, password, hash }: PasswordTask) => {
  parentPort?.postMessage(hash === undefined ? hashSync(password, cost) : compareSync(password, hash))
})
