import type { Command } from 'commander'

/** A command line in a document, and its words after `adamant`. */
export type CommandLineExample = { readonly line: string; readonly words: readonly string[] }

/** A shell word that ends a command's arguments. */
const ENDS = /^(?:[|&;<>#]|\d?>)/

/** `adamant` at the position of a command in a shell line, with or without variables before it, and its arguments. */
const COMMAND = /(?:^|npx |[|;&(] *)(?:[A-Z_]+=\S+ )*adamant ((?:'[^']*'|"(?:\$\([^)]*\)|[^"])*"|[^'")])+)/g

/** The command lines in shell blocks and in inline code. A `\` at the end of a line continues it on the next. */
export function commandLinesIn(text: string): CommandLineExample[] {
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

/** A placeholder for a word that the reader has to choose. */
const isPlaceholder = (word: string) => /^(?:[A-Z_]+|\.\.\.|…)$/.test(word)

/** @returns the error that the program would report; undefined if the words are valid */
export function commandLineError(program: Command, words: readonly string[]): string | undefined {
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
