import { readdirSync, readlinkSync } from 'node:fs'

/** The paths of the files that this process has open, and names of its sockets; none where the system does not tell. */
export const openFiles = (): string[] =>
  process.platform === 'linux' ? readdirSync(DESCRIPTORS).map((name) => targetOf(`${DESCRIPTORS}/${name}`)) : []

const DESCRIPTORS = '/proc/self/fd'

function targetOf(descriptor: string): string {
  try {
    return readlinkSync(descriptor)
  } catch {
    return '' // It was closed since the folder was read.
  }
}
