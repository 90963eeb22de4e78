import type { Origin } from '../commands/origin.ts'
import type { Installation } from '../installation.ts'
import { securityLog } from '../security-log.ts'
import { operator } from './operator.ts'

/** What an administrator does, in the command's words, such as `user disable`, and to whom or what. */
export type Act = { readonly act: string; readonly subject: string }

/** An administrator's act on an open installation, which stands in the security log, done or failed. @throws what `work` throws */
export function administering<Result>(
  { act, subject }: Act,
  work: (installation: Installation, by: Origin) => Promise<Result>,
): (installation: Installation) => Promise<Result> {
  return async (installation) => {
    const by = operator()
    const security = securityLog(installation.log)
    const noted = { event: 'administration', act, subject, osUser: by.osUser ?? '', request: by.correlation } as const
    try {
      const result = await work(installation, by)
      security({ ...noted, outcome: 'done' })
      return result
    } catch (error) {
      security({ ...noted, outcome: 'failed' })
      throw error
    }
  }
}
