import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { StoneModel } from '../../domain/diamond/stone-model.ts'
import type { Basis } from '../../domain/diamond/score-basis.ts'
import { stoneOf } from '../../domain/diamond/scored-stone.ts'
import { cutKey, type Cut } from '../../domain/scoring/cut/cut.ts'
import { possibleCut } from '../../domain/scoring/cut/possible.ts'
import { cutOf } from '../../domain/scoring/cut/stone.ts'
import type { Look } from '../../domain/scoring/picture/picture.ts'
import { OPTICS_VERSION } from '../../domain/scoring/version.ts'
import type { KeptPictures } from '../../stores/ports/files.ts'

/** A cut, or a stone's own body by the digest of its 3D file. */
export type Shown = { readonly cut: Cut } | { readonly model: string }

/** @throws ImpossibleProportions or UntraceableCut, by name, where there can be no picture */
export type Draw = (order: { readonly shown: Shown; readonly look: Look }) => Promise<Uint8Array>

export type Picture = { readonly etag: string; png(): Promise<Uint8Array | undefined> }

/** To be raised when the same cut is drawn otherwise. */
const DRAWN_AS = 3
/** What is thrown over what can't be drawn, now or later. */
const NO_PICTURE: ReadonlySet<string> = new Set(['ImpossibleProportions', 'UntraceableCut'])

/** Pictures in memory at most, up to 300 KB each. */
const KEPT = 60

/**
 * What pictures show: a stone's own body, and proportions that a report measured, are design data, so that they are drawn
 * only where the owner shows all, as far as a stone can have them; else the ones that a stone of its grade has. null where
 * its shape has no model.
 */
export function shownOf(diamond: LiveDiamond): Shown | null {
  if (isOwnShown(diamond)) return { model: diamond.model.file.digest }
  const cut = shownCut(diamond)
  return cut && { cut }
}

const isOwnShown = (diamond: LiveDiamond): diamond is LiveDiamond & { readonly model: StoneModel } =>
  diamond.fields.dataAccess === 2 && diamond.model !== undefined

function shownCut(diamond: LiveDiamond): Cut | null {
  const { measured, ...nominal } = stoneOf(diamond)
  const cut = cutOf(diamond.fields.dataAccess === 2 && measured !== undefined ? { ...nominal, measured } : nominal)
  return cut && possibleCut(cut)
}

/** What the pictures are of, which may be less than what the scores rest on. */
export function shownBasis(diamond: LiveDiamond): Basis {
  if (isOwnShown(diamond)) return 'facets'
  if (shownCut(diamond)?.measured !== undefined) return 'measurements'
  return stoneOf(diamond).cutGrade === undefined ? 'shape' : 'grade'
}

/**
 * Pictures of stones, each drawn once and kept: in memory, and those of cuts beyond it. A stone's own body is its owner's, and its picture
 * outlives the file in no folder.
 */
export class Pictures {
  readonly #kept = new LRUCache<string, Promise<Uint8Array | undefined>>({ max: KEPT })

  constructor(
    private readonly draw: Draw,
    private readonly beyond: KeptPictures,
  ) {}

  of(shown: Shown, look: Look): Picture {
    const what = 'cut' in shown ? cutKey(shown.cut) : `model ${shown.model}`
    const key = [DRAWN_AS, OPTICS_VERSION, look, what].join('/')
    const etag = `"${createHash('sha256').update(key).digest('base64url').slice(0, 22)}"`
    return { etag, png: () => this.#kept.get(key) ?? this.#remembered(key, shown, look) }
  }

  #remembered(key: string, shown: Shown, look: Look): Promise<Uint8Array | undefined> {
    const png = this.#found(key, shown, look).catch((error: unknown) => {
      if (error instanceof Error && NO_PICTURE.has(error.name)) return undefined
      this.#kept.delete(key)
      throw error
    })
    this.#kept.set(key, png)
    return png
  }

  async #found(key: string, shown: Shown, look: Look): Promise<Uint8Array> {
    if (!('cut' in shown)) return this.draw({ shown, look })
    const before = await this.beyond.get(key)
    if (before !== undefined) return before
    const png = await this.draw({ shown, look })
    await this.beyond.put(key, png)
    return png
  }
}
