import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'
import type { Origin } from '../events/event-metadata.ts'
import type { AppLogger } from '../runtime/logger.ts'
import type { Installation, InstallationPurpose } from '../wiring/installation.ts'
import { createSecurityLogger } from '../wiring/logs.ts'
import { readSettings, type Settings } from '../wiring/settings.ts'

/** The composition root's way to open the stores that the settings name. */
export type OpenInstallation = (settings: Settings, purpose?: InstallationPurpose) => Promise<Installation>

type InstallationTask<Result> = (installation: Installation) => Promise<Result>

/**
 * Opens the installation that the environment names for as long as `work` takes.
 * @throws NoInstallation where there is none, what opening and `work` throw
 */
export const withInstallation = <Result>(open: OpenInstallation, work: InstallationTask<Result>) =>
  runWithInstallation(open, 'existing', work)

/** Likewise, but makes the installation where there is none: what an operator does before the first start. */
export const withNewInstallation = <Result>(open: OpenInstallation, work: InstallationTask<Result>) =>
  runWithInstallation(open, 'made', work)

async function runWithInstallation<Result>(
  open: OpenInstallation,
  purpose: InstallationPurpose,
  work: InstallationTask<Result>,
): Promise<Result> {
  const installation = await open(readSettings(process.env), purpose)
  try {
    return await work(installation)
  } finally {
    await installation.close()
  }
}

/** Who stands behind what a command writes; one run of it has one correlation id. */
export const createOperatorOrigin = (): Origin => ({
  actor: 'operator',
  via: 'cli',
  correlation: randomUUID(),
  osUser: osUser(),
})

/** The operating system's user who runs the command, `alice as root` where sudo says so; a number where it has no name. */
function osUser(): string {
  const uid = process.getuid?.()
  const name = nameOf(uid)
  const sudoUser = uid === 0 ? process.env['SUDO_USER'] : undefined
  return sudoUser === undefined || sudoUser === name ? name : `${sudoUser} as ${name}`
}

function nameOf(uid: number | undefined): string {
  try {
    return userInfo().username
  } catch {
    // Containers run as users that no file names.
    return uid === undefined ? 'unknown' : `uid ${uid}`
  }
}

/** What an administrator does, in the command's words, such as `user disable`, and to whom or what. */
export type AdminAction = { readonly act: string; readonly subject: string }

/** Does an administrator's act, which stands in the security log then, done or failed. @throws what `work` throws */
export async function runAdminAction<Result>(
  log: AppLogger,
  { act, subject }: AdminAction,
  work: (by: Origin) => Promise<Result>,
): Promise<Result> {
  const by = createOperatorOrigin()
  const security = createSecurityLogger(log)
  const event = { event: 'administration', act, subject, osUser: by.osUser ?? '', request: by.correlation } as const
  try {
    const result = await work(by)
    security({ ...event, outcome: 'done' })
    return result
  } catch (error) {
    security({ ...event, outcome: 'failed' })
    throw error
  }
}

/** Likewise, on an installation that is opened for it. */
export const asAdminAction =
  <Result>(act: AdminAction, work: (installation: Installation, by: Origin) => Promise<Result>) =>
  (installation: Installation): Promise<Result> =>
    runAdminAction(installation.log, act, (by) => work(installation, by))
