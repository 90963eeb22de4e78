/** What is still missing then was never there. */
const TRIES = 100

/**
 * Looks at the files of a running service. It writes some beside their place and renames them: where one that was listed is
 * gone when it is read, all are looked at again.
 */
export function lookedAt<Found>(look: () => Found): Found {
  for (let tries = 1; ; tries++) {
    try {
      return look()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === TRIES) throw error
    }
  }
}
