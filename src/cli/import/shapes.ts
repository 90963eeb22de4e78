import { count } from '../progress-bar.ts'

/** Shapes that are told by name; a column that is none of shapes may hold as many as there are stones. */
const TOLD = 20

/** The cut shapes of a file that no dictionary knows: they are kept as written, and have scores where a model goes by their name. */
export class OwnShapes {
  readonly #stones = new Map<string, number>()
  #others = 0

  /** @param shape as it is stored: a text is one that no dictionary knows */
  saw(shape: number | string | undefined): void {
    if (typeof shape !== 'string') return
    const before = this.#stones.get(shape)
    if (before === undefined && this.#stones.size === TOLD) this.#others++
    else this.#stones.set(shape, (before ?? 0) + 1)
  }

  /** How many stones have each, as far as they are told by name. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#stones)
  }

  /** A sentence for people; undefined where there are none. */
  get told(): string | undefined {
    if (this.#stones.size === 0) return undefined
    const names = [...this.#stones].map(([shape, stones]) => `${shape} (${count(stones)})`)
    const others = this.#others === 0 ? '' : `, and others of ${count(this.#others)} stones`
    return `cut shapes that no dictionary knows, kept as written: ${names.join(', ')}${others}`
  }
}
