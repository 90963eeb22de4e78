/** What the thread that shreds answers where others use the file; nothing where it is done, else why it failed. */
export const BUSY = 'busy'
