import { compareSync, hashSync } from 'bcryptjs'
import { constants } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { lowerPriority } from '../runtime/priority.ts'

/** What is asked of the worker; without `hash` the password is hashed at this cost, with it compared. */
export type PasswordTask = { readonly cost: number; readonly password: string; readonly hash?: string }

// As with passphrases: requests go before, and a tenth of a busy core is left for who waits for this.
lowerPriority(constants.priority.PRIORITY_BELOW_NORMAL)

parentPort?.on('message', ({ cost, password, hash }: PasswordTask) => {
  parentPort?.postMessage(hash === undefined ? hashSync(password, cost) : compareSync(password, hash))
})
