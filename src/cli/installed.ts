import type { Installation, Purpose } from '../wiring/installation.ts'
import { readSettings, type Settings } from '../wiring/settings.ts'

/** The composition root's way to open the stores that the settings name. */
export type Open = (settings: Settings, purpose?: Purpose) => Promise<Installation>

type Work<Result> = (installation: Installation) => Promise<Result>

/**
 * Opens the installation that the environment names for as long as `work` takes.
 * @throws NoInstallation where there is none, what opening and `work` throw
 */
export const withInstallation = <Result>(open: Open, work: Work<Result>) => working(open, 'existing', work)

/** Likewise, but makes the installation where there is none: what an operator does before the first start. */
export const withNewInstallation = <Result>(open: Open, work: Work<Result>) => working(open, 'made', work)

async function working<Result>(open: Open, purpose: Purpose, work: Work<Result>): Promise<Result> {
  const installation = await open(readSettings(process.env), purpose)
  try {
    return await work(installation)
  } finally {
    await installation.close()
  }
}
