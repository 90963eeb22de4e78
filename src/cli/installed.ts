import type { Installation } from '../installation.ts'
import { readSettings, type Settings } from '../settings.ts'

/** The composition root's way to open the stores that the settings name; `filling` where they are copied into. */
export type Open = (settings: Settings, filling?: boolean) => Promise<Installation>

/** Opens the installation that the environment names for as long as `work` takes. @throws what opening and `work` throw */
export async function withInstallation<Result>(
  open: Open,
  work: (installation: Installation) => Promise<Result>,
): Promise<Result> {
  const installation = await open(readSettings(process.env))
  try {
    return await work(installation)
  } finally {
    await installation.close()
  }
}
