import { readdirSync, readFileSync } from 'node:fs'

/**
 * The nice values of the threads that some work adds to this process. On Linux only.
 * @see https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html (19)
 */
export async function niceOfThreadsAddedBy(work: () => Promise<unknown>): Promise<number[]> {
  const before = new Set(readdirSync('/proc/self/task'))
  await work()
  const added = readdirSync('/proc/self/task').filter((thread) => !before.has(thread))
  return added.map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
  })
}
