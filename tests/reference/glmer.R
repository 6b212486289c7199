# Fits the tables of simulate.py with lme4's glmer and writes what the tests compare with.
#
#   apt-get install r-base-core r-cran-lme4 r-cran-jsonlite
#   python tests/reference/simulate.py /tmp/tables && Rscript tests/reference/glmer.R /tmp/tables tests/reference/glmer.json
suppressPackageStartupMessages({library(lme4); library(jsonlite)})

arguments <- commandArgs(trailingOnly = TRUE)
fits <- list(
  list(table = "priming", formula = "correct ~ log_length * match * acceptable + (1 | suite)", nagq = 1),
  list(table = "priming", formula = "correct ~ log_length * match * acceptable + (1 | suite)", nagq = 9),
  list(table = "priming", formula = "correct ~ log_length * match * acceptable + (1 | suite) + (1 | item)", nagq = 1),
  list(table = "near_zero", formula = "correct ~ x * z + (1 | suite)", nagq = 1),
  list(table = "near_zero", formula = "correct ~ x * z + (1 | suite)", nagq = 9),
  list(table = "ceiling", formula = "correct ~ log_length * acceptable + (1 | suite)", nagq = 1),
  list(table = "ceiling", formula = "correct ~ log_length * acceptable + (1 | suite)", nagq = 9),
  list(table = "blimp_priming", formula = "correct ~ log_length * match * acceptable + (1 | suite)", nagq = 1),
  list(table = "blimp_priming", formula = "correct ~ log_length * match * acceptable + (1 | suite)", nagq = 9),
  list(table = "blimp_priming", formula = "correct ~ log_length * match * acceptable + (1 | suite) + (1 | item)", nagq = 1)
)

fit_one <- function(spec) {
  path <- file.path(arguments[1], paste0(spec$table, ".csv"))
  fit <- glmer(as.formula(spec$formula), read.csv(path), family = binomial, nAGQ = spec$nagq,
               control = glmerControl(optimizer = "bobyqa", optCtrl = list(maxfun = 1e5)))
  coefficients <- summary(fit)$coefficients
  list(
    table = spec$table, formula = spec$formula, nagq = spec$nagq,
    sha256 = strsplit(system2("sha256sum", path, stdout = TRUE), " ")[[1]][1],
    terms = rownames(coefficients), estimate = coefficients[, 1], se = coefficients[, 2],
    z = coefficients[, 3], p = coefficients[, 4],
    sd = lapply(VarCorr(fit), function(block) unname(attr(block, "stddev"))),
    loglik = as.numeric(logLik(fit)), aic = AIC(fit), n = nobs(fit), singular = isSingular(fit)
  )
}

written <- list(R = R.version.string, lme4 = as.character(packageVersion("lme4")), fits = lapply(fits, fit_one))
write_json(written, arguments[2], auto_unbox = TRUE, digits = 10, pretty = TRUE)
