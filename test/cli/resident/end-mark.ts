/** A command line that a resident process is asked to carry out. */
export type CommandRequest = {
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly input: string
}

/** What a resident process writes to stdout and to stderr behind a command. */
export const endMark = (code: number): string => `\n<<< the command ended with ${code} >>>\n`

/** What stands before the mark, and the exit code in it. */
export const MARKED_OUTPUT = /^(.*)\n<<< the command ended with (\d+) >>>\n$/s
