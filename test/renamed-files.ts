/** A file that is still missing after this many tries was not renamed: the test fails. */
const TRIES = 100

/**
 * Reads files of a running service, which replaces some of them by renaming. If a listed file no longer exists when it is
 * read, `look` is called again.
 */
export function retryIfRenamed<Found>(read: () => Found): Found {
  for (let tries = 1; ; tries++) {
    try {
      return read()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === TRIES) throw error
    }
  }
}
