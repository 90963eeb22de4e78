/** Fails a test in which no event is skipped and no request is left unfinished. */
export function unexpected(stream: string, error: Error): never {
  throw new Error(`${stream}: ${error.message}`)
}
