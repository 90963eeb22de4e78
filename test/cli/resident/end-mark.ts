/** A command line for the resident process, sent as one line of JSON. */
export type CommandRequest = {
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly input: string
}

/** The resident process writes this to stdout and stderr after a command. */
export const endMark = (code: number): string => `\n<<< the command ended with ${code} >>>\n`

/** Matches the output of a command and the exit code in the mark after it. */
export const MARKED_OUTPUT = /^(.*)\n<<< the command ended with (\d+) >>>\n$/s
