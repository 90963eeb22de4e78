import { tableHash } from './table.ts'

/** Of the model: major when scores change their meaning, minor when they move by more than their d, else patch. */
const MODEL = '1.0.0'

/** The version of every score that rests on the tracer: the model's, and as build metadata the table's digest. */
export const OPTICS_VERSION = `${MODEL}+${tableHash}`

/** Fluorescence comes from the report alone. */
export const FLUOR_VERSION = '1.0.0'
