import type { Group } from '../group.ts'
import { bulk } from './bulk.ts'
import { create } from './create.ts'
import { get } from './get.ts'
import { idempotency } from './idempotency.ts'
import { ifMatch } from './if-match.ts'
import { list } from './list.ts'
import { listsOfAMillion } from './lists-1m.ts'
import { refresh } from './refresh.ts'
import { secrets } from './secrets.ts'

/** In the order of the table. */
export const GROUPS: readonly Group[] = [
  create,
  get,
  list,
  bulk,
  refresh,
  idempotency,
  ifMatch,
  secrets,
  listsOfAMillion,
]
