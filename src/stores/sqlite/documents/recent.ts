import { LRUCache } from 'lru-cache'
import type { Document, FieldValue } from '../../ports/read-store.ts'

/**
 * Documents that are kept in memory after they were read: some 12 MB of diamonds. A read by id costs SQLite a seventh of
 * what the whole request costs.
 */
const MOST = 8_192

/** Sets of columns whose documents are kept; callers name theirs by the same array each time. */
const SELECTIONS = 4

type Recent = LRUCache<FieldValue, Document>

type Read = (id: FieldValue, select: readonly string[]) => Document | undefined

/** The documents that were read last, by what was read of them, as long as nobody has written them. */
export class RecentDocuments {
  readonly #kept = new Map<readonly string[], Recent>()

  constructor(private readonly read: Read) {}

  get(id: FieldValue, select: readonly string[]): Document | undefined {
    const known = this.#keptOf(select)
    const found = known?.get(id)
    if (found !== undefined) return found
    const document = this.read(id, select)
    if (document !== undefined) known?.set(id, document)
    return document
  }

  /** They were written by this process. */
  forget(ids: readonly (FieldValue | undefined)[]): void {
    for (const known of this.#kept.values()) for (const id of ids) if (id !== undefined) known.delete(id)
  }

  /** Another process has written, and nobody knows what. */
  forgetAll(): void {
    for (const known of this.#kept.values()) known.clear()
  }

  #keptOf(select: readonly string[]): Recent | undefined {
    const known = this.#kept.get(select)
    if (known !== undefined || this.#kept.size === SELECTIONS) return known
    const made: Recent = new LRUCache({ max: MOST })
    this.#kept.set(select, made)
    return made
  }
}
