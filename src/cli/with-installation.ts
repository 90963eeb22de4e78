import { randomUUID } from 'node:crypto'
import type { Origin } from '../events/event-metadata.ts'
import type { AppLogger } from '../runtime/logger.ts'
import type { Installation, InstallationPurpose } from '../wiring/installation.ts'
import { createSecurityLogger } from '../wiring/logs.ts'
import { readSettings, type Settings } from '../wiring/settings.ts'
import { OS_USER } from './os-user.ts'

/** Opens the stores that the settings name; implemented by the composition root. */
export type OpenInstallation = (settings: Settings, purpose?: InstallationPurpose) => Promise<Installation>

type InstallationTask<Result> = (installation: Installation) => Promise<Result>

/**
 * Opens the installation that the environment names, runs `task` and closes it.
 * @throws NoInstallation if it does not exist, and whatever opening it and `task` throw
 */
export const withInstallation = <Result>(open: OpenInstallation, task: InstallationTask<Result>) =>
  runWithInstallation(open, 'existing', task)

/** Like `withInstallation`, but creates a missing installation, for commands that are used before the first start. */
export const withNewInstallation = <Result>(open: OpenInstallation, task: InstallationTask<Result>) =>
  runWithInstallation(open, 'made', task)

async function runWithInstallation<Result>(
  open: OpenInstallation,
  purpose: InstallationPurpose,
  task: InstallationTask<Result>,
): Promise<Result> {
  const installation = await open(readSettings(process.env), purpose)
  try {
    return await task(installation)
  } finally {
    await installation.close()
  }
}

/** The origin of the events that one run of a command appends, with a new correlation id. */
export const createOperatorOrigin = (): Origin => ({
  actor: 'operator',
  via: 'cli',
  correlation: randomUUID(),
  osUser: OS_USER,
})

/** An action for the security log: the command, such as `user disable`, and its subject. */
export type AdminAction = { readonly act: string; readonly subject: string }

/** Runs an administrator's action and records it in the security log, done or failed. @throws whatever `task` throws */
export async function runAdminAction<Result>(
  log: AppLogger,
  { act, subject }: AdminAction,
  task: (origin: Origin) => Promise<Result>,
): Promise<Result> {
  const origin = createOperatorOrigin()
  const logSecurityEvent = createSecurityLogger(log)
  const event = {
    event: 'administration',
    act,
    subject,
    osUser: origin.osUser ?? '',
    request: origin.correlation,
  } as const
  try {
    const result = await task(origin)
    logSecurityEvent({ ...event, outcome: 'done' })
    return result
  } catch (error) {
    logSecurityEvent({ ...event, outcome: 'failed' })
    throw error
  }
}

/** `runAdminAction` as a task for `withInstallation`. */
export const asAdminAction =
  <Result>(action: AdminAction, task: (installation: Installation, origin: Origin) => Promise<Result>) =>
  (installation: Installation): Promise<Result> =>
    runAdminAction(installation.log, action, (origin) => task(installation, origin))
