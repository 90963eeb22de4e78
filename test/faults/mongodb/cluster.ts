import { withInstallation, type Serving } from '../serving.ts'

/** An installation with its read models in MongoDB. */
export type Cluster = { start(roles: 'http' | 'projections'): Promise<Serving> }

/** Runs with a new installation; its processes end even if the run fails. */
export const withCluster = (database: string, run: (cluster: Cluster) => Promise<void>): Promise<void> =>
  withInstallation(
    ({ serve }) => run({ start: (roles) => serve({ ROLES: roles, LOG_LEVEL: 'warn' }) }),
    // For all processes: a log belongs to the vault and the files that it was created with.
    { READ_MODEL: database },
  )
