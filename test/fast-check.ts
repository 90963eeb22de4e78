/** fast-check with the seed of this run (test/seeded.ts), so that a run can be repeated. */
import { configureGlobal, integer, string, type StringConstraints } from 'fast-check'
import { SEED } from './seeded.ts'

configureGlobal({ seed: SEED })

export * from 'fast-check'

/** The range of surrogate code units, which are no characters on their own. */
const SURROGATES = { first: 0xd800, last: 0xdfff } as const
const SURROGATE_COUNT = SURROGATES.last - SURROGATES.first + 1

/** Any Unicode character. fast-check's unit `binary` does the same but builds a table of a million entries per process. */
const character = integer({ min: 0, max: 0x10_ffff - SURROGATE_COUNT }).map(
  (index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATE_COUNT),
  (text) => {
    const code = typeof text === 'string' && [...text].length === 1 ? (text.codePointAt(0) ?? 0) : SURROGATES.first
    if (code >= SURROGATES.first && code <= SURROGATES.last) throw new TypeError('not one character')
    return code < SURROGATES.first ? code : code - SURROGATE_COUNT
  },
)

/** Strings of any characters, including names that often cause bugs (`__proto__`). */
export const anyText = (lengths: Pick<StringConstraints, 'minLength' | 'maxLength'> = {}) =>
  string({ ...lengths, unit: character })
