import { withInstallation, type Serving } from '../serving.ts'

/** One installation whose read models are in MongoDB, and its processes. */
export type Cluster = { start(roles: 'http' | 'projections'): Promise<Serving> }

/** Runs with an installation of its own; its processes end however the run ends. */
export const withCluster = (database: string, run: (cluster: Cluster) => Promise<void>): Promise<void> =>
  withInstallation(
    ({ serve }) => run({ start: (roles) => serve({ ROLES: roles, LOG_LEVEL: 'warn' }) }),
    // From the first one on: a log is joined with the vault and the files that it was made with.
    { READ_MODEL: database },
  )
