import { Refusal, type Fault } from '../../../domain/refusal.ts'

/** What a file's part is where it has no file name. */
export const FILE_AS_TEXT: Fault = {
  pointer: '/file',
  message: 'file must be sent as a file: with a filename in its Content-Disposition',
}

/** @param name as it is told to the caller */
export const twice = (name: string) =>
  new Refusal('malformed', [{ pointer: `/${name}`, message: `${name} may stand once in the form` }])
