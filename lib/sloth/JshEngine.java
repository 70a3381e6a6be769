package sloth;

import java.lang.reflect.Method;
import java.util.Map;
import jdk.jshell.execution.DirectExecutionControl;
import jdk.jshell.spi.ExecutionControl;
import jdk.jshell.spi.ExecutionControlProvider;
import jdk.jshell.spi.ExecutionEnv;

/**
 * Runs snippets on the main thread, as a program runs. The JDK's "local" engine rewrites each loop (so that a user
 * can interrupt it), calls {@code toString()} on each value, and JShell then keeps silent when a class does not load.
 */
final class JshEngine extends DirectExecutionControl implements ExecutionControlProvider {
    Object value;
    private String unloadable;

    @Override protected String invoke(Method snippet) throws Exception {
        value = snippet.invoke(null);
        return "";
    }

    @Override public String invoke(String type, String method) throws RunException, EngineTerminationException {
        try {
            return super.invoke(type, method);
        } catch (InternalException e) {
            String why = unloadable == null ? e.getMessage() : unloadable;
            throw new UserException(why, "java.lang.LinkageError", new StackTraceElement[0]);
        }
    }

    @Override public void load(ClassBytecodes[] classes)
        throws ClassInstallException, NotImplementedException, EngineTerminationException {
        try {
            super.load(classes);
        } catch (ClassInstallException e) {
            unloadable = e.getMessage();
            throw e;
        }
    }

    @Override public String name() {
        return "sloth";
    }

    @Override public ExecutionControl generate(ExecutionEnv env, Map<String, String> parameters) {
        return this;
    }
}
