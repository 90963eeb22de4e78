/** Searches texts for words and constructions that the project doesn't write; avoided.json lists them. */
import { readFileSync } from 'node:fs'

type Rule = {
  /** Phrases, matched as whole words in any case; `…` stands for one to three words. */
  readonly avoid: readonly string[]
  /** What to write instead. */
  readonly write: string
}

type AvoidedWords = {
  readonly phrases: readonly Rule[]
  /** Coined identifiers, matched exactly, in code only. */
  readonly identifiers: readonly Rule[]
}

export type Finding = { readonly line: number; readonly found: string; readonly write: string }

export const avoidedWords: AvoidedWords = JSON.parse(readFileSync(new URL('avoided.json', import.meta.url), 'utf8'))

/** Between two words: blanks, and where a line ends also the marker with which the next line of a comment or quotation begins. */
const BETWEEN = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*(?:(?:\*|//|#|>)[ \t]+)?)`
const UP_TO_THREE_WORDS = String.raw`[^\s.;:]+(?:${BETWEEN}[^\s.;:]+){0,2}`

const escape = (word: string): string => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

function phrasePattern(phrase: string): RegExp {
  const words = phrase.split(' ').map((word) => (word === '…' ? UP_TO_THREE_WORDS : escape(word)))
  return new RegExp(String.raw`(?<![\w-])${words.join(BETWEEN)}(?![\w-])`, 'gi')
}

const identifierPattern = (name: string): RegExp => new RegExp(String.raw`(?<![\w$])${escape(name)}(?![\w$])`, 'g')

const withPatterns = (rules: readonly Rule[], patternOf: (word: string) => RegExp) =>
  rules.flatMap(({ avoid, write }) => avoid.map((word) => ({ pattern: patternOf(word), write })))

const PHRASES = withPatterns(avoidedWords.phrases, phrasePattern)
const IDENTIFIERS = withPatterns(avoidedWords.identifiers, identifierPattern)

/** Every place of an avoided phrase in a text and, in code, of an avoided identifier, in the order of lines. */
export const findAvoidedWords = (text: string, { isCode }: { readonly isCode: boolean }): Finding[] =>
  [...PHRASES, ...(isCode ? IDENTIFIERS : [])]
    .flatMap(({ pattern, write }) =>
      [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
        line: text.slice(0, index).split('\n').length,
        found: found.replaceAll(new RegExp(BETWEEN, 'g'), ' '),
        write,
      })),
    )
    .sort((a, b) => a.line - b.line)

/** A changelog without its released versions: what was published stays as it was. */
export const withoutReleased = (changelog: string): string => changelog.split(/^## (?!\[?Unreleased)/m, 1)[0] ?? ''
