import { BadFolder } from './installation.ts'
import { makeFolder } from '../runtime/make-folder.ts'

/** Makes the folder of an installation where there is none. @throws BadFolder with what is wrong in one line */
export function makeDataDir(folder: string): void {
  try {
    makeFolder(folder)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new BadFolder(`DATA_DIR must be a folder that can be written to, got ${folder}: ${why}`)
  }
}
