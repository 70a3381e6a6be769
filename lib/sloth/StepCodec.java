package sloth;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/**
 * The values of steps as JSON, by Gson, which is loaded apart: the job may have a Gson of its own, or none.
 */
final class StepCodec {

    private final Object gson;
    private final Method toJson;
    private final Method fromJson;

    StepCodec(Path gsonJar) throws ReflectiveOperationException, MalformedURLException {
        ClassLoader apart = new URLClassLoader(new URL[] {gsonJar.toUri().toURL()}, ClassLoader.getPlatformClassLoader());
        Class<?> builder = apart.loadClass("com.google.gson.GsonBuilder");
        Class<?> numbers = apart.loadClass("com.google.gson.ToNumberStrategy");
        Object longOrDouble = apart.loadClass("com.google.gson.ToNumberPolicy").getField("LONG_OR_DOUBLE").get(null);
        Constructor<?> make = builder.getConstructor();
        Object b = builder.getMethod("serializeNulls").invoke(make.newInstance());
        b = builder.getMethod("setObjectToNumberStrategy", numbers).invoke(b, longOrDouble);
        gson = builder.getMethod("create").invoke(b);
        toJson = gson.getClass().getMethod("toJson", Object.class);
        fromJson = gson.getClass().getMethod("fromJson", String.class, Type.class);
    }

    String encode(Object value) {
        return (String) call(toJson, value);
    }

    @SuppressWarnings("unchecked")
    <T> T decode(String json, Class<T> type) {
        return (T) call(fromJson, json, type);
    }

    private Object call(Method method, Object... args) {
        try {
            return method.invoke(gson, args);
        } catch (InvocationTargetException e) {
            throw new IllegalArgumentException("a step's result must be a string, number, boolean, list, map or record of them: "
                + e.getCause().getMessage(), e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
