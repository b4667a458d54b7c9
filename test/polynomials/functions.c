/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A module with a loop per function over a buffer, whose body is what
 * tg_polynomial_emit makes.
 */
#include "test/polynomials/functions.h"

#include <math.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/RegisterEverything.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "passes/inspect.h"
#include "passes/passes.h"
#include "passes/polynomial.h"
#include "test/schedules/schedules.h"

#define FUNCTION(name, low, high, limit_f32, limit_f64, f32, f64)              \
  static double name##_double(double x, double z) {                            \
    (void)z;                                                                   \
    return f32;                                                                \
  }                                                                            \
  static long double name##_long(long double x, long double z) {               \
    (void)z;                                                                   \
    return f64;                                                                \
  }
#include "test/polynomials/functions.def"

const struct function_facts function_facts[FUNCTION_COUNT] = {
#define FUNCTION(name, low, high, limit_f32, limit_f64, f32, f64)              \
  {#name, low, high, {limit_f32, limit_f64}, name##_double, name##_long},
#include "test/polynomials/functions.def"
};

/* Of the operation. */
static int operand_count(const char *name) {
  return strcmp(name, "powf") == 0 ? 2 : 1;
}

bool host_has(const char *target) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
            __builtin_cpu_supports("bmi2");
  bool v4 = v3 && __builtin_cpu_supports("avx512f") &&
            __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512cd") &&
            __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl");
  return !strncmp(target, "avx512", 6) ? v4
         : !strncmp(target, "avx2", 4) ? v3
                                       : true;
#else
  return !strncmp(target, "generic", 7);
#endif
}

struct compiled {
  struct jit *jit;
  void *function[FUNCTION_COUNT];
};

/*===-- The module --------------------------------------------------------===*/

static MlirContext get_context(void) {
  static MlirContext context;
  if (!mlirContextIsNull(context))
    return context;
  context = mlirContextCreateWithThreading(false);
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  mlirRegisterAllLLVMTranslations(context);
  mlirContextAppendDialectRegistry(context, registry);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  mlirRegisterAllPasses();
  return context;
}

/* The loop, and the declaration of what it calls. Neither has a name of libm,
 * which the body may call. */
static int print_function(char *text, size_t text_nbytes, const char *name,
                          const struct variant *variant) {
  const char *element = variant->wide ? "f64" : "f32";
  const char *op = variant->lanes ? "vector" : "memref";
  char type[32], place[80], after[40] = "";
  snprintf(type, sizeof(type), "%s", element);
  if (variant->lanes) {
    snprintf(type, sizeof(type), "vector<%dx%s>", variant->lanes, element);
    snprintf(after, sizeof(after), ", %s", type);
  }
  snprintf(place, sizeof(place), "[%%i] : memref<?x%s>%s", element, after);
  return snprintf(text, text_nbytes,
                  "func.func private @body_%s(%s, %s) -> %s "
                  "attributes {llvm.linkage = #llvm.linkage<internal>}\n"
                  "func.func @over_%s(%%x: memref<?x%s>, %%z: memref<?x%s>, "
                  "%%y: memref<?x%s>) attributes {llvm.emit_c_interface} {\n"
                  "  %%c0 = arith.constant 0 : index\n"
                  "  %%step = arith.constant %d : index\n"
                  "  %%n = memref.dim %%x, %%c0 : memref<?x%s>\n"
                  "  scf.for %%i = %%c0 to %%n step %%step {\n"
                  "    %%v = %s.load %%x%s\n"
                  "    %%w = %s.load %%z%s\n"
                  "    %%r = func.call @body_%s(%%v, %%w) : (%s, %s) -> %s\n"
                  "    %s.store %%r, %%y%s\n"
                  "  }\n"
                  "  return\n"
                  "}\n",
                  name, type, type, type, name, element, element, element,
                  variant->lanes ? variant->lanes : 1, element, op, place, op,
                  place, name, type, type, type, op, place);
}

/* Gives @body_NAME its body. */
static bool fill_body(MlirOperation declaration, const char *name,
                      const struct variant *variant) {
  MlirContext context = mlirOperationGetContext(declaration);
  MlirLocation location = mlirLocationUnknownGet(context);
  MlirType element =
      variant->wide ? mlirF64TypeGet(context) : mlirF32TypeGet(context);
  int64_t lanes = variant->lanes;
  MlirType type = lanes ? mlirVectorTypeGet(1, &lanes, element) : element;
  MlirType types[2] = {type, type};
  MlirLocation locations[2] = {location, location};
  MlirBlock block = mlirBlockCreate(2, types, locations);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(declaration, 0), block);
  struct tg_builder builder;
  tg_builder_init(&builder, block, location, element, lanes ? lanes : 1);
  builder.fused = variant->fused;
  char op[32];
  snprintf(op, sizeof(op), "math.%s", name);
  MlirValue x[2] = {mlirBlockGetArgument(block, 0),
                    mlirBlockGetArgument(block, 1)};
  int count = operand_count(name);
  MlirValue y = variant->library
                    ? tg_build_1(&builder, op, count, x, type)
                    : tg_polynomial_emit(&builder, tg_ref(op), count, x);
  if (mlirValueIsNull(y))
    return false;
  tg_build(&builder, "func.return", 1, &y, 0, NULL, 0, NULL);
  return true;
}

static bool has(int function, const struct variant *variant) {
  return function_facts[function].limit[variant->wide] > 0;
}

static bool fill_bodies(MlirModule module, const struct variant *variant) {
  int i = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    MlirRegion region = mlirOperationGetRegion(op, 0);
    if (!mlirBlockIsNull(mlirRegionGetFirstBlock(region)))
      continue;
    while (!has(i, variant))
      ++i;
    if (!fill_body(op, function_facts[i++].name, variant))
      return false;
  }
  return true;
}

static bool lower(MlirModule module, const struct variant *variant) {
  struct tg_target target;
  struct tg_error error;
  MlirOperation op = mlirModuleGetOperation(module);
  if (tg_target_parse(variant->target, &target, &error)) {
    puts(error.message);
    return false;
  }
  tg_set_target(op, &target);
  return mlirOperationVerify(op) &&
         mlirLogicalResultIsSuccess(tg_lower(op, NULL));
}

struct compiled *compile_functions(const struct variant *variant) {
  static char text[64 * 1024];
  int used = 0;
  for (int i = 0; i < FUNCTION_COUNT; ++i)
    if (has(i, variant))
      used += print_function(text + used, sizeof(text) - (size_t)used,
                             function_facts[i].name, variant);
  MlirModule module = mlirModuleCreateParse(get_context(), tg_ref(text));
  struct compiled *compiled = calloc(1, sizeof(*compiled));
  char fault[256] = "the module is not made";
  if (!mlirModuleIsNull(module) && fill_bodies(module, variant) &&
      lower(module, variant)) {
    compiled->jit =
        jit_create(mlirModuleGetOperation(module), 2, fault, sizeof(fault));
    mlirModuleDestroy(module);
  }
  if (!compiled->jit) {
    puts(fault);
    return NULL;
  }
  for (int i = 0; i < FUNCTION_COUNT; ++i) {
    char name[32];
    snprintf(name, sizeof(name), "over_%s", function_facts[i].name);
    compiled->function[i] = jit_lookup(compiled->jit, name);
  }
  return compiled;
}

void call_function(struct compiled *compiled, enum function function,
                   const void *x, const void *z, void *y, int64_t count) {
  struct tensor shape = {.rank = 1, .extent = {count}};
  struct memref arguments[3];
  const void *inputs[2] = {x, z};
  for (int i = 0; i < 2; ++i) {
    void *data;
    memcpy(&data, &inputs[i], sizeof(data));
    memref_set(&arguments[i], data, &shape);
  }
  memref_set(&arguments[2], y, &shape);
  typedef void (*callee)(struct memref *, struct memref *, struct memref *);
  callee call;
  memcpy(&call, &compiled->function[function], sizeof(call));
  call(&arguments[0], &arguments[1], &arguments[2]);
}
