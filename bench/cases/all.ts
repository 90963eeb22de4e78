import type { Group } from '../group.ts'
import { bulk } from './bulk.ts'
import { create } from './create.ts'
import { get } from './get.ts'
import { list } from './list.ts'

/** In the order of the table. */
export const GROUPS: readonly Group[] = [create, get, list, bulk]
