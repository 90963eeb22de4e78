/**
 * Two characters that JSON text can't contain stand in stored bodies for what is known only on sending: ADDRESS for
 * the service's address, SIGNED behind a path for the signature that opens it.
 */
export const ADDRESS = '\u0000'
export const SIGNED = '\u0001'
