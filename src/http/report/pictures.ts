import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { StoneModel } from '../../domain/diamond/stone-model.ts'
import { scoreBasisOf, type ScoreSource } from '../../domain/diamond/score-basis.ts'
import { stoneOf } from '../../domain/diamond/scored-stone.ts'
import { cutKey, type Cut } from '../../optics/cut/cut.ts'
import { possibleCut } from '../../optics/cut/possible-cut.ts'
import { cutOf } from '../../optics/cut/stone.ts'
import type { PictureKind } from '../../optics/picture/picture.ts'
import { OPTICS_VERSION } from '../../optics/version.ts'
import type { PictureStore } from '../../stores/ports/file-store.ts'

/** A cut, or the digest of a diamond's own 3D file. */
type StonePictureSubject = { readonly cut: Cut } | { readonly model: string }

/** Rejects with an error named ImpossibleProportions or UntraceableCut if there can be no picture. */
export type PictureRenderer = (order: {
  readonly subject: StonePictureSubject
  readonly kind: PictureKind
}) => Promise<Uint8Array>

type StonePicture = { readonly etag: string; png(): Promise<Uint8Array | undefined> }

/** Increment when the rendering of the same cut changes. */
const RENDERING_VERSION = 3
/** Permanent errors, cached as "no picture". */
const NO_PICTURE: ReadonlySet<string> = new Set(['ImpossibleProportions', 'UntraceableCut'])

/** Up to 300 KB each. */
const MAX_CACHED_PICTURES = 60

/**
 * What the pictures show. The 3D file and measured proportions are design data: they are used only if `dataAccess` is 2
 * (show all); otherwise the picture shows typical proportions of the grade. Impossible proportions are corrected.
 * @returns null if the shape has no optical model
 */
export function pictureSubjectOf(diamond: LiveDiamond): StonePictureSubject | null {
  if (isOwnModelVisible(diamond)) return { model: diamond.model.file.digest }
  const cut = visibleCutOf(diamond)
  return cut && { cut }
}

const isOwnModelVisible = (diamond: LiveDiamond): diamond is LiveDiamond & { readonly model: StoneModel } =>
  diamond.fields.dataAccess === 2 && diamond.model !== undefined

function visibleCutOf(diamond: LiveDiamond): Cut | null {
  const { measured, ...nominal } = stoneOf(diamond)
  const cut = cutOf(diamond.fields.dataAccess === 2 && measured !== undefined ? { ...nominal, measured } : nominal)
  return cut && possibleCut(cut)
}

/** What the pictures are based on. It may be less than what the scores are based on. */
export function pictureBasisOf(diamond: LiveDiamond): ScoreSource {
  if (isOwnModelVisible(diamond)) return 'facets'
  const { model: _model, ...withoutModel } = diamond
  if (visibleCutOf(diamond)?.measured !== undefined) return scoreBasisOf(withoutModel, null).light
  return stoneOf(diamond).cutGrade === undefined ? 'shape' : 'grade'
}

/**
 * Caches pictures in memory. Pictures of cuts are also cached on disk, but not those of 3D files, so that none outlives its
 * file.
 */
export class StonePictureCache {
  readonly #cache = new LRUCache<string, Promise<Uint8Array | undefined>>({ max: MAX_CACHED_PICTURES })

  constructor(
    private readonly render: PictureRenderer,
    private readonly persistentCache: PictureStore,
  ) {}

  pictureOf(subject: StonePictureSubject, kind: PictureKind): StonePicture {
    const subjectKey = 'cut' in subject ? cutKey(subject.cut) : `model ${subject.model}`
    const key = [RENDERING_VERSION, OPTICS_VERSION, kind, subjectKey].join('/')
    const etag = `"${createHash('sha256').update(key).digest('base64url').slice(0, 22)}"`
    return { etag, png: () => this.#cache.get(key) ?? this.#renderCached(key, subject, kind) }
  }

  #renderCached(key: string, subject: StonePictureSubject, kind: PictureKind): Promise<Uint8Array | undefined> {
    const png = this.#loadOrRender(key, subject, kind).catch((error: unknown) => {
      if (error instanceof Error && NO_PICTURE.has(error.name)) return undefined
      this.#cache.delete(key)
      throw error
    })
    this.#cache.set(key, png)
    return png
  }

  async #loadOrRender(key: string, subject: StonePictureSubject, kind: PictureKind): Promise<Uint8Array> {
    if (!('cut' in subject)) return this.render({ subject, kind })
    const cachedPng = await this.persistentCache.get(key)
    if (cachedPng !== undefined) return cachedPng
    const png = await this.render({ subject, kind })
    await this.persistentCache.put(key, png)
    return png
  }
}
