import { count } from '../progress-bar.ts'

/** Texts that are told by name; a column that is none of shapes may hold as many as there are stones. */
const TOLD = 20

/** Texts of a file, and how many stones have each. */
export class CountedTexts {
  readonly #stones = new Map<string, number>()
  #others = 0

  saw(text: string): void {
    const before = this.#stones.get(text)
    if (before === undefined && this.#stones.size === TOLD) this.#others++
    else this.#stones.set(text, (before ?? 0) + 1)
  }

  /** How many stones have each, as far as they are told by name. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#stones)
  }

  /** The same for people, `Trilliant (2)`; empty where there are none. */
  get told(): readonly string[] {
    const texts = [...this.#stones].map(([text, stones]) => `${text} (${count(stones)})`)
    return this.#others === 0 ? texts : [...texts, `others of ${count(this.#others)} stones`]
  }
}
