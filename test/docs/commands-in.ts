import type { Command } from 'commander'

/** A command line as a document shows it: the words behind `adamant`. */
export type Shown = { readonly line: string; readonly words: readonly string[] }

/** What ends a command's words in a line of a shell. */
const ENDS = /^(?:[|&;<>#]|\d?>)/

/** `adamant` where a line of a shell has a command, settings before it or not, and the words behind it. */
const COMMAND = /(?:^|npx |[|;&(] *)(?:[A-Z_]+=\S+ )*adamant ((?:'[^']*'|"(?:\$\([^)]*\)|[^"])*"|[^'")])+)/g

/** The command lines in blocks of code and between backticks. A `\` at a line's end goes on with the next. */
export function commandLinesIn(text: string): Shown[] {
  const fences = [...text.matchAll(/^```(?:ba)?sh.*\n([^]*?)^```$/gm)].flatMap(([, block = '']) =>
    block.replaceAll('\\\n', ' ').split('\n'),
  )
  const spans = [...text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span)
  return [...fences, ...spans].flatMap((line) =>
    [...line.matchAll(COMMAND)].map(([all, rest = '']) => ({ line: all, words: wordsOf(rest) })),
  )
}

function wordsOf(rest: string): string[] {
  const words = rest.replaceAll('\\|', '|').match(/(?:'[^']*'|"(?:\$\([^)]*\)|[^"])*"|[^\s'"])+/g) ?? []
  const end = words.findIndex((word) => ENDS.test(word))
  return end < 0 ? words : words.slice(0, end)
}

/** What a document writes for a word that the reader has to choose. */
const isPlaceholder = (word: string) => /^(?:[A-Z_]+|\.\.\.|…)$/.test(word)

/** @returns what the program would not understand of it; undefined where it would */
export function misunderstood(program: Command, words: readonly string[]): string | undefined {
  let command = program
  for (const word of words) {
    const [name = ''] = word.split('=')
    if (name.startsWith('-') && name !== '-') {
      const isKnown = [...command.options.map(({ long }) => long), '--help'].includes(name)
      if (!isKnown) return `${command.name()} has no option ${name}`
    } else if (command.commands.length > 0) {
      if (isPlaceholder(word)) return undefined
      const found = word.split('|').map((one) => command.commands.find((sub) => sub.name() === one))
      const [first] = found
      if (first === undefined || found.includes(undefined)) return `${command.name()} has no command ${word}`
      command = first
    }
  }
  return undefined
}
