import type { Writing } from '../core/handle.ts'
import type { IdBlocks } from '../installation/integer-ids.ts'

/** What commands on diamonds write with. */
export type Inventory = Writing & { readonly diamondIds: IdBlocks }
