import type { CaseGroup } from '../group.ts'
import { bulk } from './bulk.ts'
import { create } from './create.ts'
import { ceiling } from './engines/ceiling.ts'
import { eventStore } from './engines/event-store.ts'
import { fence } from './engines/fence.ts'
import { mongodb } from './engines/mongodb.ts'
import { readModels } from './engines/read-models.ts'
import { onServers } from './engines/service.ts'
import { get } from './get.ts'
import { idempotency } from './idempotency.ts'
import { ifMatch } from './if-match.ts'
import { list } from './list.ts'
import { listOrders, listOrdersOfAMillion } from './list-orders.ts'
import { listsOfAMillion } from './lists-1m.ts'
import { rebuild, rebuildOfAMillion } from './rebuild.ts'
import { refresh } from './refresh.ts'
import { secrets } from './secrets.ts'
import { slowDisk } from './slow-disk.ts'
import { tree } from './tree.ts'
import { watching } from './watching.ts'

/** In the order of the result table. */
export const GROUPS: readonly CaseGroup[] = [
  create,
  get,
  list,
  listOrders,
  bulk,
  refresh,
  idempotency,
  ifMatch,
  secrets,
  tree,
  watching,
  slowDisk,
  listsOfAMillion,
  rebuild,
  rebuildOfAMillion,
  listOrdersOfAMillion,
  eventStore,
  ceiling,
  readModels,
  mongodb,
  fence,
  ...onServers,
]
