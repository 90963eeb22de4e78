import { plainText } from '../domain/look-alikes.ts'

/** The stones of an account before an import by sku. */
export type KnownStock = {
  /** Ids of the stones with this sku; usually one. */
  bySku(sku: string): readonly number[]
  /** Another stone whose sku differs only in characters that look the same. */
  lookAlikeOf(sku: string): { readonly id: number; readonly sku: string } | undefined
  /** Cut shapes outside of the dictionary that the stones have. */
  readonly customShapes: ReadonlySet<string>
}

/** @property skus visible texts by id, in order of creation */
type StoneSkus = {
  readonly skus: Iterable<readonly [id: number, sku: string]>
  readonly customShapes: Iterable<string>
}

export function indexStones({ skus, customShapes }: StoneSkus): KnownStock {
  const idBySku = new Map<string, number>()
  const duplicateIdsBySku = new Map<string, number[]>()
  /** Skus with look-alikes, by the plain sku. */
  const lookAlikes = new Map<string, string>()
  for (const [id, sku] of skus) {
    if (plainText(sku) !== sku) lookAlikes.set(plainText(sku), sku)
    const first = idBySku.get(sku)
    if (first === undefined) idBySku.set(sku, id)
    else if (duplicateIdsBySku.get(sku)?.push(id) === undefined) duplicateIdsBySku.set(sku, [first, id])
  }
  return {
    customShapes: new Set(customShapes),
    bySku: (sku) => duplicateIdsBySku.get(sku) ?? [idBySku.get(sku)].filter((id) => id !== undefined),
    lookAlikeOf(sku) {
      const plainSku = plainText(sku)
      for (const other of [plainSku, lookAlikes.get(plainSku) ?? plainSku]) {
        const id = other === sku ? undefined : idBySku.get(other)
        if (id !== undefined) return { id, sku: other }
      }
      return undefined
    },
  }
}
