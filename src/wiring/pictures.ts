import { join } from 'node:path'
import { pictureFolder } from '../stores/folder/pictures.ts'
import type { KeptPictures } from '../stores/ports/pictures.ts'
import type { Installation } from './installation.ts'

/** Some thousand pictures of cuts. */
const MOST_BYTES = 256 * 1024 * 1024

/** Pictures in DATA_DIR/pictures. A folder that can't be used costs the time to draw them again, and a line in the log. */
export function keptPictures({ settings, log }: Pick<Installation, 'settings' | 'log'>): KeptPictures {
  const folder = pictureFolder(join(settings.DATA_DIR, 'pictures'), MOST_BYTES)
  const told = (error: unknown) => {
    log.warn({ err: error }, 'pictures can not be kept in DATA_DIR/pictures; they are drawn again')
    return undefined
  }
  return { get: (key) => folder.get(key).catch(told), put: (key, png) => folder.put(key, png).catch(told) }
}
