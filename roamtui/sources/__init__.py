"""Where documents come from: files, standard input, samples."""
