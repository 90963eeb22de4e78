/** Told of what failed and is made up for later: nobody waits for it, and an operator wants to know. */
export type Told = (found: Readonly<Record<string, unknown>>, sentence: string) => void

/** Where nobody listens: a line on stderr. */
export const warned: Told = ({ err, ...found }, sentence) => {
  const reason = err instanceof Error ? `: ${err.message}` : ''
  process.emitWarning(`${sentence} (${JSON.stringify(found)})${reason}`)
}
