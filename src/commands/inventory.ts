import type { Writing } from './handle.ts'
import type { IdBlocks } from './integer-ids.ts'

/** What commands on diamonds write with. */
export type Inventory = Writing & { readonly diamondIds: IdBlocks }
